"""What `argus hooks` writes into the settings of agents' programs, and takes away again."""
