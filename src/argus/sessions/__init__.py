"""What the sessions of agents are doing, told by what they say of themselves."""
