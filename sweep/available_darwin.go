package sweep

// availableMemory is 0 here: the system does not tell in a simple way.
func availableMemory() int64 { return 0 }
