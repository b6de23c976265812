"""How rows of a table without keys are laid out, so that few files hold what a filter asks for."""
