"""A small real web server: `web_server.py PORT PIDFILE`. Listens, says who it is, and only then lets its caller go on.
A number as the path is the status it answers with.

Only what starts quickly: it is run with `python -I -S`.
"""

import os
import socket
import sys

port, pid_file = int(sys.argv[1]), sys.argv[2]
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", port))
listener.listen(64)
child = os.fork()
if child:
    with open(pid_file + ".new", "w") as file:
        file.write(str(child))
    os.rename(pid_file + ".new", pid_file)
    os._exit(0)
os.setsid()
while True:
    connection, _ = listener.accept()
    try:
        connection.settimeout(2)
        asked = connection.recv(65536)
        path = asked.split(b" ")[1].strip(b"/") if asked else b""
        status = path if path.isdigit() else b"200"
        if asked:
            connection.sendall(b"HTTP/1.1 %s So\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok" % status)
    except OSError:
        pass  # a check that gave up; the next one counts
    finally:
        connection.close()
