"""What may be said in an option, what it means, and which options Lakebed acts on."""
