package inspect

// UnreadBackups returns warnings about what could not be read.
func (f Facts) UnreadBackups() []string {
	if f.Backups == nil {
		return nil
	}
	var warnings []string
	if f.Backups.Unread != "" {
		warnings = append(warnings, "backups and restores could not be read: "+f.Backups.Unread)
	}
	for _, b := range f.Backups.Backups {
		if b.View == nil {
			warnings = append(warnings, "backup "+b.Record.Name+" could not be read: "+b.Unread)
		}
	}
	for _, r := range f.Backups.Restores {
		if r.View == nil {
			warnings = append(warnings, "restore "+r.Record.Name+" could not be read: "+r.Unread)
		}
	}
	return warnings
}
