"""The script of a run of nine turns whose answer hangs on every variable and every message before it."""

from __future__ import annotations

import re

from tests.tierdeck.adapters.rlms.chat_server import Chat

TURNS = 9
CONTEXT = "ledger: 4, 8, 15, 16, 23, 42"
QUESTION = "What does the ledger come to?"

_BEGIN = """
import re
numbers = [int(found) for found in re.findall(r"[0-9]+", context)]
seen = []
total = sum(numbers)
print("total", total)
"""
_STEP = """
low = int(llm_query("low {turn} of " + str(total)))
high = int(llm_query("high {turn} of " + str(low)))
seen.append((low, high))
total = total * 3 + low * high - {told}
print("total", total, "of", len(seen))
"""
_END = """
answer["content"] = f"{{total}} {{len(seen)}} {{sum(low for low, high in seen)}} {{numbers[-1]}} {told}"
answer["ready"] = True
"""


def sums(chat: Chat) -> str:
    """What the model says."""
    if chat.turn is None:
        return str(sum(chat.last.encode()) % 97)
    told = re.findall(r"total (-?\d+)", chat.text)
    cell = _BEGIN if chat.turn == 1 else _END if chat.turn == TURNS else _STEP
    return says(cell if chat.turn == 1 else cell.format(turn=chat.turn, told=told[-1]))


def says(*cells: str) -> str:
    """An answer with cells in it."""
    return "I go on.\n" + "\n".join(f"```repl\n{cell.strip()}\n```" for cell in cells)
