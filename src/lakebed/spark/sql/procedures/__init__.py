"""CALL: procedures with the names, parameters and answers of the format's own Spark connector."""
