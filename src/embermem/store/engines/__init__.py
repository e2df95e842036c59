"""How a database is opened, read, written and copied: SQLite and PostgreSQL."""
