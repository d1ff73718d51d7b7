package tui

// Key is one key of the screen, as help shows it.
type Key struct {
	// Section is where help lists it.
	Section string
	// Press is how people know the key, Does what it is for.
	Press, Does string
}

// Keys are all keys of the screen, in the order of its help.
func Keys() []Key {
	var keys []Key
	for _, section := range sections() {
		for _, b := range bindings() {
			if b.section == section {
				keys = append(keys, Key{Section: section, Press: b.show, Does: b.does})
			}
		}
	}
	return keys
}
