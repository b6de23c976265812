"""Tags that are made, changed and deleted, on request or by themselves."""
