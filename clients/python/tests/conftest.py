from standins import background, connection

__all__ = ["background", "connection"]
