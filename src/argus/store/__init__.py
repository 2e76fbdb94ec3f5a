"""The record. One interface over SQLite and PostgreSQL: writes are values, committed together or not at all."""
