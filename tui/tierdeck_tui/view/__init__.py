"""Between the data and a widget or a terminal: what makes text safe, short and aligned. Imports no Textual."""
