"""The times that collectives would wait."""
from datetime import timedelta


default_pg_timeout = timedelta(minutes=30)
default_pg_nccl_timeout = timedelta(minutes=10)
