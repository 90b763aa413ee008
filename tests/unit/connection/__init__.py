"""What a connection is made from, without one."""
