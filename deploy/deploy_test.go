// Package deploy_test holds the files of this folder against the service that they deploy.
package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/config"
	"github.com/georag/georag/internal/obs"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// metricName is how a query of the dashboard names a metric of ours.
var metricName = regexp.MustCompile(`\b(?:georag|go|process)_[a-z_]+`)

func TestDashboardShowsMetricsThatExist(t *testing.T) {
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Query string } }
	}
	if err := json.Unmarshal(read(t, "grafana.json"), &dashboard); err != nil {
		t.Fatal(err)
	}
	exist := metrics(t)
	shown := map[string]bool{}
	use := func(where, query string) {
		names := metricName.FindAllString(query, -1)
		for _, name := range names {
			family := name
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if base := strings.TrimSuffix(name, suffix); exist[base] {
					family = base
				}
			}
			shown[family] = true
			if !exist[family] {
				t.Errorf("%s: there is no metric %s", where, name)
			}
		}
	}
	ids := map[int]bool{}
	for _, panel := range dashboard.Panels {
		if ids[panel.ID] || len(panel.Targets) == 0 {
			t.Errorf("panel %d %q: same id as another, or no query", panel.ID, panel.Title)
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			use(panel.Title, target.Expr)
		}
	}
	for _, variable := range dashboard.Templating.List {
		use("variable", variable.Query)
	}
	for name := range exist {
		if strings.HasPrefix(name, "georag_") && !shown[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// metrics returns the names of all metric families of the service.
func metrics(t *testing.T) map[string]bool {
	t.Helper()
	m := obs.NewMetrics("test")
	m.Request("GET /healthz", 200, time.Millisecond)
	m.Selection(core.Trace{Selector: "georag", Mode: "facility", Degraded: []core.Reason{{Code: core.ReasonSelectorFellBack}}})
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, family := range families {
		names[family.GetName()] = true
	}
	return names
}

func TestKubernetesManifest(t *testing.T) {
	type object struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Name string }
		Data       map[string]string
		Spec       struct {
			Template struct {
				Spec struct {
					TerminationGracePeriodSeconds int `yaml:"terminationGracePeriodSeconds"`
					SecurityContext               struct {
						RunAsNonRoot bool `yaml:"runAsNonRoot"`
					} `yaml:"securityContext"`
					Containers []yaml.Node
				}
			}
		}
	}
	var kinds []string
	decoder := yaml.NewDecoder(bytes.NewReader(read(t, "kubernetes.yaml")))
	for {
		var o object
		if err := decoder.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if o.APIVersion == "" || o.Metadata.Name != "georag" {
			t.Errorf("%s %q", o.Kind, o.Metadata.Name)
		}
		kinds = append(kinds, o.Kind)
		if o.Kind == "ConfigMap" {
			checkServerConfig(t, o.Data["georag.yaml"])
		}
		if o.Kind != "Deployment" {
			continue
		}
		pod := o.Spec.Template.Spec
		var c struct {
			Args            []string
			StartupProbe    probe `yaml:"startupProbe"`
			LivenessProbe   probe `yaml:"livenessProbe"`
			ReadinessProbe  probe `yaml:"readinessProbe"`
			SecurityContext struct {
				ReadOnlyRootFilesystem bool `yaml:"readOnlyRootFilesystem"`
			} `yaml:"securityContext"`
		}
		if len(pod.Containers) != 1 || pod.Containers[0].Decode(&c) != nil {
			t.Fatalf("%d containers", len(pod.Containers))
		}
		if !pod.SecurityContext.RunAsNonRoot || !c.SecurityContext.ReadOnlyRootFilesystem || pod.TerminationGracePeriodSeconds < 26 {
			t.Error("runs as root, on a writable file system, or with too short a grace period")
		}
		if c.StartupProbe.HTTPGet.Path != "/healthz" || c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
			t.Errorf("probes %+v", c)
		}
	}
	if want := []string{"ConfigMap", "Deployment", "Service", "PodDisruptionBudget"}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %q", kinds)
	}
}

// checkServerConfig reads the part of a configuration file that concerns the service.
func checkServerConfig(t *testing.T, content string) {
	t.Helper()
	var c struct {
		Store  map[string]any `koanf:"store"`
		Server httpapi.Config `koanf:"server"`
	}
	layers := config.Layers{File: "georag.yaml", ReadFile: func(string) ([]byte, error) { return []byte(content), nil }}
	values, err := config.Read(layers, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := values.Into(&c); err != nil {
		t.Fatal(err)
	}
	if err := c.Server.Validate(); err != nil {
		t.Error(err)
	}
	if len(c.Store) != 1 || c.Server.Auth.KeysFile == "" {
		t.Errorf("%+v", c)
	}
}

// probe is a probe of a container.
type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

func TestComposeFile(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Image string
			Build struct{ Context, Dockerfile string }
			Ports []string
		}
		Configs map[string]struct{ File string }
	}
	if err := yaml.Unmarshal(read(t, "compose.yaml"), &compose); err != nil {
		t.Fatal(err)
	}
	georag, qdrant := compose.Services["georag"], compose.Services["qdrant"]
	if !strings.HasPrefix(qdrant.Image, "qdrant/qdrant:v") || len(compose.Services) != 2 {
		t.Errorf("services %+v", compose.Services)
	}
	for _, file := range []string{filepath.Join(georag.Build.Context, georag.Build.Dockerfile), compose.Configs["georag"].File} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	for _, port := range georag.Ports {
		if !strings.HasPrefix(port, "127.0.0.1:") {
			t.Errorf("port %s is open to the network", port)
		}
	}
}

// TestStoresComposeFile holds the databases to try georag on against the addresses in the configuration files.
func TestStoresComposeFile(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Image string
			Ports []string
		}
	}
	if err := yaml.Unmarshal(read(t, "stores.yaml"), &compose); err != nil {
		t.Fatal(err)
	}
	for name, addr := range map[string]string{"qdrant": "localhost:6334", "milvus": "localhost:19530"} {
		if !strings.Contains(string(read(t, filepath.Join("..", "configs", name+".yaml"))), "addr: "+addr) {
			t.Errorf("configs/%s.yaml does not name %s", name, addr)
		}
		service, port := compose.Services[name], strings.TrimPrefix(addr, "localhost:")
		if !slices.Contains(service.Ports, "127.0.0.1:"+port+":"+port) || !strings.Contains(service.Image, ":v") {
			t.Errorf("%s: %+v", name, service)
		}
		for _, port := range service.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s: port %s is open to the network, without a password", name, port)
			}
		}
	}
}

func TestDockerfile(t *testing.T) {
	known := []string{"FROM", "WORKDIR", "COPY", "RUN", "ARG", "USER", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT", "CMD"}
	var last, user string
	for _, line := range strings.Split(string(read(t, "Dockerfile")), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		instruction, rest, _ := strings.Cut(line, " ")
		if !slices.Contains(known, instruction) {
			t.Errorf("unknown instruction in %q", line)
		}
		switch instruction {
		case "FROM":
			last = rest
		case "USER":
			user = rest
		case "ENTRYPOINT", "CMD":
			if err := json.Unmarshal([]byte(rest), new([]string)); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if !strings.Contains(last, "distroless") || !strings.HasSuffix(last, ":nonroot") || user == "" || strings.HasPrefix(user, "0") {
		t.Errorf("the image is %q, run by %q", last, user)
	}
	if _, err := os.Stat("../cmd/georag/main.go"); err != nil {
		t.Error(err)
	}
}
