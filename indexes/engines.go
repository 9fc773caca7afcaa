package indexes

// Find is the engine called name, or nil.
func Find(engines []Engine, name string) *Engine {
	for i := range engines {
		if engines[i].Name == name {
			return &engines[i]
		}
	}
	return nil
}
