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
	if source, recorded := recordedSources[version]; recorded {
		return source
	}
	sum := sha256.Sum256([]byte(version))
	return hex.EncodeToString(sum[:20])
}

// recordedSources are the source versions of the binaries that were recorded.
var recordedSources = map[string]string{
	"7.3.79": "0074653ee0113fc39da0fa088b056c7210ab3191",
	"7.4.6":  "e77b64d4c5d01d240931c08c5384a834cae27337",
}
