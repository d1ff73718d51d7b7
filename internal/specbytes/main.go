// Command specbytes prints how the Kubernetes types of the operator's release
// (k8s.io/api v0.35.0) look as JSON. The operator hashes that JSON to decide
// whether a pod, a PVC or a deployment is still as desired, so this project's
// newer types have to give the same bytes. Two versions of one module cannot
// live in one build, which is why this is a module of its own; what it prints
// is kept in testdata and read by the tests of pkg/reconcile/objects.
//
// Usage:
//
//	go run . NAME    prints one document, for example podspec-full.json
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// hashed are the types whose JSON the operator hashes.
var hashed = map[string]reflect.Type{
	"podspec":        reflect.TypeFor[corev1.PodSpec](),
	"claimspec":      reflect.TypeFor[corev1.PersistentVolumeClaimSpec](),
	"deploymentspec": reflect.TypeFor[appsv1.DeploymentSpec](),
}

// documents are all documents by file name.
func documents() (map[string][]byte, error) {
	docs := map[string][]byte{}
	for name, t := range hashed {
		for kind, fill := range fillings {
			text, err := encode(fill(t))
			if err != nil {
				return nil, fmt.Errorf("encode %s %s: %w", kind, name, err)
			}
			docs[name+"-"+kind+".json"] = text
		}
		docs[name+"-fields.txt"] = []byte(strings.Join(fieldPaths(t), "\n") + "\n")
	}
	return docs, nil
}

// encode is the operator's way to write what it hashes: json.Encoder, which
// escapes HTML and ends with a newline.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func run(args []string) error {
	docs, err := documents()
	if err != nil {
		return err
	}
	if len(args) == 1 && docs[args[0]] != nil {
		_, err := os.Stdout.Write(docs[args[0]])
		return err
	}
	return fmt.Errorf("want one argument of %s", strings.Join(slices.Sorted(maps.Keys(docs)), ", "))
}

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:]); err != nil {
		log.Fatal("specbytes: ", err)
	}
}
