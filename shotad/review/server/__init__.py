"""The server: addresses, who may ask, news, files, the program."""
