"""What readers read: files by name, records, archives, annotated pictures, and what the program itself gives."""
from dragon.vm.dali.core.readers import annotated, archives, external, files, records
