"""What the server of worker processes imports first: it does not end with a signal that all of its group get.

Workers leave when their server is gone, and the main process needs them until its state is saved
(`shotad.grammar.training_loop.Stop`). The server itself leaves when the main process does: its pipe closes
then.
"""

import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
