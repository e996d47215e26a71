package main

import (
	"runtime"
	"testing"
	"time"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/qdrant"
)

func TestLoadFitsTheStore(t *testing.T) {
	embedded := withLoadOf(Config{Store: StoreConfig{Flat: &flat.Config{}}}).Server.Load
	if embedded.Running != runtime.GOMAXPROCS(0) || embedded.Wait != 50*time.Millisecond {
		t.Errorf("in front of an embedded index: %+v", embedded)
	}
	if remote := withLoadOf(Config{Store: StoreConfig{Qdrant: &qdrant.Config{}}}).Server.Load; remote.Running != 0 || remote.Wait != 0 {
		t.Errorf("in front of a server: %+v", remote)
	}
	configured := Config{Store: StoreConfig{Flat: &flat.Config{}}}
	configured.Server.Load.Running = 7
	if load := withLoadOf(configured).Server.Load; load.Running != 7 || load.Wait != 0 {
		t.Errorf("as configured: %+v", load)
	}
}
