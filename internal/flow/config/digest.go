package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Digest returns the SHA-256, in hex, of all settings that affect the results: the source, the model's name, the steps, the estimator's settings, the objects'
// settings if objects are tracked, and the triggers. Defaults are included; destinations and names of messages are not.
func (c *Config) Digest() (string, error) {
	components := func(list []Component) (out []any) {
		for _, c := range list {
			out = append(out, []any{c.Kind, c.Options()})
		}
		return out
	}
	online := c.Online
	online.State, online.CheckpointEvery = "", 0 // they do not affect the results
	if len(online.Forecast) == 0 {
		online.Forecast = nil // an empty list and no list give the same digest
	}
	parts := []any{components([]Component{c.Source}), c.Model, components(c.Preprocess), online}
	if c.Objects.Enabled {
		parts = append(parts, c.Objects)
	}
	if len(c.Triggers) > 0 {
		parts = append(parts, components(c.Triggers))
	}
	data, err := json.Marshal(parts)
	if err != nil {
		return "", fmt.Errorf("the configuration has no digest: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
