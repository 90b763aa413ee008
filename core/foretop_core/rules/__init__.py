"""Pure judgement: objects and a moment in, answers out; no input, no output."""
