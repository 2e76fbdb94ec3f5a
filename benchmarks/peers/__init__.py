"""Other people's programs, as Debian packs them: started with what we want of them, and ended."""
