"""From splits to rows, and from a question to splits."""
