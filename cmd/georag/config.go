package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/adapters/milvus"
	"github.com/georag/georag/adapters/qdrant"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/config"
	"github.com/georag/georag/internal/obs"
)

// Config is everything a configuration file can say. The settings of the selection stand at its top level.
type Config struct {
	Store  StoreConfig `koanf:"store"`
	Models `koanf:",squash"`
	// Server is how `georag serve` serves, Tracing where its traces go.
	Server  httpapi.Config `koanf:"server"`
	Tracing obs.Config     `koanf:"tracing"`
	// Proxies are the databases' own protocols that it speaks.
	Proxies       ProxiesConfig `koanf:"proxies"`
	core.Settings `koanf:",squash"`
}

// StoreConfig names one store.
type StoreConfig struct {
	Flat   *flat.Config   `koanf:"flat"`
	Qdrant *qdrant.Config `koanf:"qdrant"`
	Milvus *milvus.Config `koanf:"milvus"`
}

// Validate reports the first setting out of its range; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	if err := c.Settings.Validate(); err != nil {
		return err
	}
	for _, part := range []interface{ Validate() error }{c.Models, c.Server, c.Tracing} {
		if err := part.Validate(); err != nil {
			return err
		}
	}
	if err := c.Proxies.validate(c.Store, c.Server); err != nil {
		return err
	}
	return c.Store.Validate()
}

// Validate reports a configuration without a store, or with several.
func (c StoreConfig) Validate() error {
	var named []string
	var chosen interface{ Validate() error }
	if c.Flat != nil {
		named, chosen = append(named, "flat"), *c.Flat
	}
	if c.Qdrant != nil {
		named, chosen = append(named, "qdrant"), *c.Qdrant
	}
	if c.Milvus != nil {
		named, chosen = append(named, "milvus"), *c.Milvus
	}
	switch {
	case len(named) == 0:
		return fmt.Errorf("%w: store is missing, want one of flat, qdrant, milvus", core.ErrInvalid)
	case len(named) > 1:
		return fmt.Errorf("%w: store is %s, want one of flat, qdrant, milvus", core.ErrInvalid, strings.Join(named, " and "))
	case c.Flat != nil && c.Flat.Dir == "": // which the store of a file system embedded in a program leaves empty
		return fmt.Errorf("%w: store.flat.dir is empty", core.ErrInvalid)
	}
	return chosen.Validate()
}

// only leaves the store of one kind: a command line that names a store wins over a file that names another.
func (c *StoreConfig) only(kind string) {
	if kind != "flat" {
		c.Flat = nil
	}
	if kind != "qdrant" {
		c.Qdrant = nil
	}
	if kind != "milvus" {
		c.Milvus = nil
	}
}

// settingFlag is a flag that stands for a setting.
type settingFlag struct{ flag, key, usage string }

// settingFlags are the command line's own names of settings, and the keys they stand for.
var settingFlags = []settingFlag{
	{"preset", "preset", "settings to start from: " + strings.Join(core.PresetNames(), " or ")},
	{"selector", "selector", "one of " + strings.Join(core.SelectorNames(), ", ")},
	{"k", "k", "passages to select"},
	{"K", "candidates", "nearest passages that compete"},
	{"pool", "pool", "candidates: " + strings.Join(core.PoolNames(), ", ") + ", each also with +union"},
	{"filter", "filter.name", "drop candidates first: " + strings.Join(core.FilterNames(), ", ")},
	{"timeout", "timeout", "bound of one selection, such as 500ms"},
}

// configFlags are the flags of every command that reads a configuration.
type configFlags struct {
	file      string
	store     string
	passages  string
	overrides []string
	command   *cobra.Command
	extra     []settingFlag // of one command
}

// registerStore adds the flags that say where the store and the models are.
func (f *configFlags) registerStore(cmd *cobra.Command) {
	f.command = cmd
	cmd.Flags().StringVar(&f.file, "config", "", "configuration file (YAML)")
	cmd.Flags().StringVar(&f.store, "store", "", "flat:DIR, qdrant://HOST:PORT/COLLECTION, milvus://HOST:PORT/COLLECTION, or the kind alone with its settings in --config")
	cmd.Flags().StringArrayVar(&f.overrides, "set", nil, "any setting, as KEY=VALUE with the file's keys (selectors.mmr.lambda=0.9); repeatable")
}

func (f *configFlags) register(cmd *cobra.Command) {
	f.registerStore(cmd)
	cmd.Flags().StringVar(&f.passages, "passages", "", "folder of an embedded index, as --store flat:DIR")
	for _, s := range settingFlags {
		cmd.Flags().String(s.flag, "", s.usage)
	}
}

// without hides settings that a command sets itself.
func (f *configFlags) without(names ...string) {
	for _, name := range names {
		f.command.Flags().Lookup(name).Hidden = true
	}
}

// given returns what the command line says, by key.
func (f *configFlags) given() (map[string]any, error) {
	layer := map[string]any{}
	for _, override := range f.overrides {
		key, value, ok := strings.Cut(override, "=")
		if !ok || key == "" {
			return nil, usagef("--set %s: want KEY=VALUE", override)
		}
		layer[key] = value
	}
	for _, s := range append(f.extra, settingFlags...) {
		if flag := f.command.Flags().Lookup(s.flag); flag != nil && flag.Changed {
			layer[s.key] = flag.Value.String()
		}
	}
	if f.passages != "" && f.store != "" {
		return nil, usagef("--store and --passages both name a store")
	}
	if f.passages != "" {
		layer["store.flat.dir"] = f.passages
	}
	return layer, f.addStore(layer)
}

// addStore reads --store.
func (f *configFlags) addStore(layer map[string]any) error {
	kind, rest, _ := strings.Cut(f.store, ":")
	switch {
	case f.store == "":
	case kind == "flat" && rest != "":
		layer["store.flat.dir"] = rest
	case (kind == "qdrant" || kind == "milvus") && rest != "":
		address, ok := strings.CutPrefix(rest, "//")
		slash := strings.LastIndex(address, "/")
		if !ok || slash < 1 || slash == len(address)-1 {
			return usagef("--store %s: want %s://HOST:PORT/COLLECTION", f.store, kind)
		}
		layer["store."+kind+".addr"], layer["store."+kind+".collection"] = address[:slash], address[slash+1:]
	case kind == "flat" || kind == "qdrant" || kind == "milvus":
		if f.file == "" {
			return usagef("--store %s: without --config, say where it is, as in flat:DIR or qdrant://HOST:PORT/COLLECTION", f.store)
		}
	default:
		return usagef("--store %s: want flat, qdrant or milvus", f.store)
	}
	return nil
}

// read returns the layers merged over their preset, not yet validated.
func (f *configFlags) read() (Config, error) {
	flags, err := f.given()
	if err != nil {
		return Config{}, err
	}
	c, err := readConfig(config.Layers{File: f.file, Environ: os.Environ(), Flags: flags})
	kind, _, _ := strings.Cut(f.store, ":")
	if f.passages != "" {
		kind = "flat"
	}
	if err == nil && kind != "" {
		c.Store.only(kind)
	}
	return c, err
}

func readConfig(layers config.Layers) (Config, error) {
	values, err := config.Read(layers, Config{})
	if err != nil {
		return Config{}, err
	}
	var c Config
	if c.Settings, err = core.Preset(values.String("preset", core.PresetDefault)); err != nil {
		return Config{}, err
	}
	err = values.Into(&c)
	return c, err
}

func newConfig(s streams) *cobra.Command {
	parent := &cobra.Command{
		Use: "config", Short: "Work with configuration files", Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	parent.AddCommand(&cobra.Command{
		Use: "check FILE", Short: "Check a configuration file without connecting to anything",
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := readConfig(config.Layers{File: args[0], Environ: os.Environ()})
			if err == nil {
				err = c.Validate()
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.out, "%s: ok\n%s", args[0], describe(c))
			return err
		},
	})
	return parent
}

// describe says in a few lines what a configuration will do.
func describe(c Config) string {
	lines := []string{
		fmt.Sprintf("preset %s, selector %s, %d passages of %d candidates, pool %s, filter %s",
			c.Preset, c.Selector, c.K, c.Candidates, c.Pool, c.Filter.Name),
	}
	if changed := changedFrom(c.Settings); len(changed) > 0 {
		lines = append(lines, "differs from its preset in "+strings.Join(changed, ", "))
	}
	return strings.Join(lines, "\n") + "\n"
}

// changedFrom lists the top-level settings that differ from their preset.
func changedFrom(s core.Settings) []string {
	p, err := core.Preset(s.Preset)
	if err != nil {
		return nil
	}
	var changed []string
	for name, differs := range map[string]bool{
		"selector": s.Selector != p.Selector, "k": s.K != p.K, "candidates": s.Candidates != p.Candidates,
		"pool": s.Pool != p.Pool, "subqueries": s.SubQueries != p.SubQueries, "demand": s.Demand != p.Demand,
		"selectors": s.Selectors != p.Selectors, "filter": s.Filter != p.Filter, "strict": s.Strict != p.Strict,
		"timeout": s.Timeout != p.Timeout,
	} {
		if differs {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}
