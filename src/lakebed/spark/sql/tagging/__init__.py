"""Statements about tags: ALTER TABLE ... TAG, SHOW TAGS."""
