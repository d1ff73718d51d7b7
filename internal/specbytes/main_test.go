package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write testdata again")

func TestTestdataMatchesTheOperatorsTypes(t *testing.T) {
	docs, err := documents()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range docs {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(file, want, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("%s is out of date; run: go -C internal/specbytes test . -update", file)
			}
		})
	}
}

func TestTestdataContainsOnlyGeneratedDocuments(t *testing.T) {
	docs, err := documents()
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if docs[f.Name()] == nil {
			t.Errorf("testdata/%s belongs to no document", f.Name())
		}
	}
}
