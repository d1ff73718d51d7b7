package inspect

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

func (v BackupStatusView) RestorableVersion() string {
	switch {
	case v.Restorable == nil:
		return phrase.UnknownCell
	case v.LatestRestorable == nil:
		return "no"
	}
	return fmt.Sprint(v.LatestRestorable.Version)
}

func (v BackupStatusView) RestorableAge() string {
	switch {
	case v.Restorable == nil:
		return phrase.UnknownCell
	case v.LatestRestorable == nil:
		return phrase.Nothing
	case v.LatestRestorable.AgeSeconds == nil:
		return phrase.UnknownCell
	}
	return phrase.Seconds(*v.LatestRestorable.AgeSeconds)
}
