package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// ProtocolText is a protocol version without leading zeros.
func ProtocolText(v fdb.Version) string {
	p, ok := v.Protocol()
	if !ok {
		return fmt.Sprintf("fdb00b0%d%d000000", v.Major, v.Minor)
	}
	return fmt.Sprintf("%x", uint64(p))
}

// SourceVersion identifies the source of a binary.
func SourceVersion(version string) string {
	if version == "7.3.79" {
		return recordedSource
	}
	sum := sha256.Sum256([]byte(version))
	return hex.EncodeToString(sum[:20])
}

// recordedSource is the source version of the binaries that were recorded.
const recordedSource = "0074653ee0113fc39da0fa088b056c7210ab3191"
