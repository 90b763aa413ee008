"""foretop and k9s side by side before one real API server with many NABs; prints ratios, never fails for a slow one."""
