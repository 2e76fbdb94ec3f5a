"""The barest programs that do the same outside work. Each is a program of its own and says where it listens."""
