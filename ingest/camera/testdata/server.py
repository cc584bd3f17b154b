"""A network camera by GStreamer's server: server.py FILM PIPELINE [basic|digest USER PASSWORD]

FILM is raw video, 160x96 I420, shown again and again at RATE frames a second (environment, 100 unless given). PIPELINE codes it and ends in a payloader called pay0.
The port is printed once it listens."""

import os
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

film, pipeline, *who = sys.argv[1:]
Gst.init(None)
server = GstRtspServer.RTSPServer(address="127.0.0.1", service=os.environ.get("PORT", "0"))
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(
    f"( multifilesrc location={film} loop=true ! rawvideoparse width=160 height=96 format=i420 framerate={os.environ.get('RATE', '100')}/1"
    f" ! identity sync=true ! {pipeline} )"
)
if who:
    kind, user, password = who
    auth, token = GstRtspServer.RTSPAuth(), GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "viewer")
    if kind == "basic":
        auth.set_supported_methods(GstRtsp.RTSPAuthMethod.BASIC)
        auth.add_basic(GstRtspServer.RTSPAuth.make_basic(user, password), token)
    else:
        auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
        auth.add_digest(user, password, token)
    server.set_auth(auth)
    permissions = GstRtspServer.RTSPPermissions()
    permissions.add_permission_for_role("viewer", "media.factory.access", True)
    permissions.add_permission_for_role("viewer", "media.factory.construct", True)
    factory.set_permissions(permissions)
server.get_mount_points().add_factory("/film", factory)
server.attach(None)
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
