"""The console and the command line of tierdeck; they reach the library only through its public face."""
