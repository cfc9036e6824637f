"""The server and the page on which people check and edit lines."""
