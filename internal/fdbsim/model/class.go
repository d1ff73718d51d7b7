package model

// SetClass overrides the class of a process; "" takes the override back.
func (db *Database) SetClass(s *Process, class string) {
	if !s.classSet {
		s.givenClass = s.Args.Class
	}
	s.classSet = class != ""
	s.Args.Class = class
	if !s.classSet {
		s.Args.Class = s.givenClass
	}
	db.exclusionsChanged()
}

// ClassSource is where a process got its class from, as in status.
func (s *Process) ClassSource() string {
	switch {
	case s.classSet:
		return "set_class"
	default:
		return "command_line"
	}
}

// Set is a set of names.
func Set(names ...string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, n := range names {
		s[n] = true
	}
	return s
}
