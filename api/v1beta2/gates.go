package v1beta2

// The first versions with a feature. Source: the operator's checks; its
// changelog and comments name others for encryption, which the code does not
// follow.
var (
	sidecarPresenceSince   = version{major: 7, minor: 1, patch: 4}
	encryptionSince73      = version{major: 7, minor: 3, patch: 73}
	encryptionSince        = version{major: 7, minor: 4, patch: 6}
	mutationLogOptionSince = version{major: 7, minor: 4, patch: 7}
)

// SidecarTellsPresence reports whether the sidecar of the split image can be
// asked if it has a file, without the file's hash.
func (c *FoundationDBCluster) SidecarTellsPresence() bool {
	v, err := parseVersion(c.Spec.Version)
	return err == nil && v.atLeast(sidecarPresenceSince)
}

// SupportsEncryption reports whether agents of the backup's version can
// encrypt: from 7.3.73 in 7.3, otherwise from 7.4.6. It is false for a version
// that cannot be read.
func (b *FoundationDBBackup) SupportsEncryption() bool {
	v, err := parseVersion(b.Spec.Version)
	if err != nil {
		return false
	}
	if v.major == encryptionSince73.major && v.minor == encryptionSince73.minor {
		return v.atLeast(encryptionSince73)
	}
	return v.atLeast(encryptionSince)
}

// NamesMutationLogType reports whether fdbbackup of the backup's version takes
// the kind of mutation log as an option with a value, instead of a flag.
func (b *FoundationDBBackup) NamesMutationLogType() bool {
	v, err := parseVersion(b.Spec.Version)
	return err == nil && v.atLeast(mutationLogOptionSince)
}
