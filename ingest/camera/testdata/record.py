"""Records what a server of RTSP sends over TCP, as rtsptest.Replay plays it: record.py PORT SECONDS FILE"""

import re
import socket
import sys
import time

port, seconds, path = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
url = f"rtsp://127.0.0.1:{port}/film"
server = socket.create_connection(("127.0.0.1", port))
recorded = b""


def ask(method, address, *headers):
    """Asks, and returns the answer. What comes right behind it is kept, too, and behind it what of others' packets comes before."""
    global recorded
    lines = [f"{method} {address} RTSP/1.0", f"CSeq: {ask.number}", *headers, "", ""]
    ask.number += 1
    server.sendall("\r\n".join(lines).encode())
    answer = packets = b""
    while True:
        while answer[:1] == b"$" and len(answer) >= 4 + int.from_bytes(answer[2:4], "big"):
            end = 4 + int.from_bytes(answer[2:4], "big")
            packets, answer = packets + answer[:end], answer[end:]
        head, end, body = answer.partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head)
        if answer[:1] != b"$" and end and len(body) >= (int(length[1]) if length else 0):
            recorded += answer + packets
            return answer.decode("latin-1")
        answer += server.recv(1 << 16)


ask.number = 1
ask("OPTIONS", url)
described = ask("DESCRIBE", url, "Accept: application/sdp")
control = re.findall(r"a=control:(\S+)", described)[-1]
session = re.search(r"Session: ([^;\r]+)", ask("SETUP", f"{url}/{control}", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"))[1]
ask("PLAY", url, f"Session: {session}", "Range: npt=0-")
until = time.time() + seconds
while time.time() < until:
    recorded += server.recv(1 << 16)
with open(path, "wb") as file:
    file.write(recorded)
