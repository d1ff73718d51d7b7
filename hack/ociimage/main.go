// Ociimage writes a container image with the program and nothing else, for several platforms, as an
// archive in the OCI layout. It needs no registry and no daemon. The same programs and the same time
// give the same bytes.
//
//	go run ./hack/ociimage -version v0.1.0 -created 2026-01-02T15:04:05Z -o image.tar linux/amd64=PATH linux/arm64=PATH
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// The media types of the OCI image format.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// program is where the image has the program. The manifests run it there.
const program = "kubectl-fdb"

// user is the one that the manifests run the program as.
const user = "65532:65532"

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

type config struct {
	Created time.Time `json:"created"`
	platform
	Config struct {
		User       string            `json:"User"`
		Entrypoint []string          `json:"Entrypoint"`
		Labels     map[string]string `json:"Labels"`
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// image is an archive that is being written. An error is kept until it is closed.
type image struct {
	tar     *tar.Writer
	created time.Time
	version string
	err     error
}

func main() {
	version := flag.String("version", "", "version of the program")
	created := flag.String("created", "", "time of the image, in RFC 3339")
	output := flag.String("o", "", "archive to write")
	flag.Parse()
	if err := run(*version, *created, *output, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(version, created, output string, programs []string) error {
	at, err := time.Parse(time.RFC3339, created)
	if err != nil {
		return fmt.Errorf("parse -created: %w", err)
	}
	if version == "" || output == "" || len(programs) == 0 {
		return errors.New("-version, -o and a program are required")
	}
	file, err := os.Create(output)
	if err != nil {
		return err
	}
	return errors.Join(write(file, version, at.UTC(), programs), file.Close())
}

// write writes the image of programs, each "OS/ARCHITECTURE=PATH".
func write(w io.Writer, version string, created time.Time, programs []string) error {
	i := &image{tar: tar.NewWriter(w), created: created, version: version}
	all := index{SchemaVersion: 2, MediaType: typeIndex}
	for _, p := range programs {
		target, path, found := strings.Cut(p, "=")
		system, architecture, complete := strings.Cut(target, "/")
		if !found || !complete {
			return fmt.Errorf("%q must be OS/ARCHITECTURE=PATH", p)
		}
		binary, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read the program for %s: %w", target, err)
		}
		all.Manifests = append(all.Manifests, i.add(platform{system, architecture}, binary))
	}
	list := i.document(typeIndex, all)
	list.Annotations = map[string]string{"org.opencontainers.image.ref.name": version}
	i.file("index.json", encoded(index{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{list}}))
	i.file("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	return errors.Join(i.err, i.tar.Close())
}

// add adds the layer, the configuration and the manifest of one platform.
func (i *image) add(p platform, binary []byte) descriptor {
	layer, packed := i.layer(binary)
	c := config{Created: i.created, platform: p}
	c.Config.User, c.Config.Entrypoint = user, []string{"/" + program}
	c.Config.Labels = map[string]string{
		"org.opencontainers.image.title": program, "org.opencontainers.image.version": i.version,
		"org.opencontainers.image.source":   "https://github.com/kubectl-fdb/kubectl-fdb",
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	c.RootFS.Type, c.RootFS.DiffIDs = "layers", []string{digest(layer)}
	d := i.document(typeManifest, manifest{
		SchemaVersion: 2, MediaType: typeManifest, Config: i.document(typeConfig, c), Layers: []descriptor{i.blob(typeLayer, packed)},
	})
	d.Platform = &p
	return d
}

// layer returns a layer with the program, as it is and compressed.
func (i *image) layer(binary []byte) (layer, packed []byte) {
	var plain, small bytes.Buffer
	files := tar.NewWriter(&plain)
	i.keep(files.WriteHeader(&tar.Header{Name: program, Mode: 0o755, Size: int64(len(binary)), ModTime: i.created, Typeflag: tar.TypeReg}))
	_, err := files.Write(binary)
	i.keep(errors.Join(err, files.Close()))
	compressed := gzip.NewWriter(&small)
	_, err = compressed.Write(plain.Bytes())
	i.keep(errors.Join(err, compressed.Close()))
	return plain.Bytes(), small.Bytes()
}

func (i *image) document(mediaType string, content any) descriptor {
	return i.blob(mediaType, encoded(content))
}

func (i *image) blob(mediaType string, content []byte) descriptor {
	d := descriptor{MediaType: mediaType, Digest: digest(content), Size: len(content)}
	i.file("blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:"), content)
	return d
}

func (i *image) file(name string, content []byte) {
	i.keep(i.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: i.created, Typeflag: tar.TypeReg}))
	_, err := i.tar.Write(content)
	i.keep(err)
}

func (i *image) keep(err error) {
	if i.err == nil {
		i.err = err
	}
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// encoded returns the JSON of a type of this program, all of which can be encoded.
func encoded(content any) []byte {
	text, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return text
}
