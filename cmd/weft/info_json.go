package main

import (
	"encoding/json"
	"io"

	"github.com/weft-mpi/weft/mpi"
)

// The JSON of weft info: names in snake case, lengths in bytes, "error" where
// something can't be used.
type (
	jsonInfo struct {
		Fabrics      []jsonFabric   `json:"fabrics,omitempty"`
		OneHost      *jsonAddresses `json:"tcp_one_host,omitempty"`
		SeveralHosts *jsonAddresses `json:"tcp_several_hosts,omitempty"`
		Devices      []jsonDevice   `json:"devices,omitempty"`
		DevicesError string         `json:"devices_error,omitempty"`
		Protocols    []jsonProtocol `json:"protocols,omitempty"`
		// ProtocolsErrors says by transport why its protocols are not known.
		ProtocolsErrors map[string]string `json:"protocols_errors,omitempty"`
		Algorithms      []jsonAlgorithm   `json:"algorithms,omitempty"`
		Configuration   []jsonSetting     `json:"configuration"`
		Refused         string            `json:"configuration_error,omitempty"` // why Init would refuse the environment
	}
	jsonFabric struct {
		Name   string `json:"name"`
		Usable bool   `json:"usable"`
		Error  string `json:"error,omitempty"`
	}
	jsonAddresses struct {
		Addresses []jsonAddress `json:"addresses"`
		Error     string        `json:"error,omitempty"`
	}
	jsonAddress struct {
		Interface string `json:"interface"`
		Address   string `json:"address,omitempty"`
		Speed     int    `json:"speed_mbit,omitempty"`
		MTU       int    `json:"mtu,omitempty"`
		Used      bool   `json:"used"`
		Why       string `json:"why"`
	}
	jsonDevice struct {
		Name     string     `json:"name"`
		Firmware string     `json:"firmware,omitempty"`
		Error    string     `json:"error,omitempty"`
		Ports    []jsonPort `json:"ports"`
	}
	jsonPort struct {
		Number    int    `json:"number"`
		State     string `json:"state"`
		LinkLayer string `json:"link_layer"`
		Rate      string `json:"rate,omitempty"`
		MTU       int    `json:"mtu,omitempty"`
		Chosen    int    `json:"gid_index"` // -1: none
		Error     string `json:"error,omitempty"`
	}
	jsonProtocol struct {
		Transport string `json:"transport"`
		From      int    `json:"from_bytes"`
		Alloc     bool   `json:"of_alloc"`
		Way       string `json:"way"`
		What      string `json:"what"`
		Why       string `json:"why"`
	}
	jsonAlgorithm struct {
		Call    string `json:"call"`
		Between bool   `json:"between_groups"`
		Name    string `json:"algorithm"`
		When    string `json:"when"`
		Why     string `json:"why"`
	}
	jsonSetting struct {
		Variable string `json:"variable,omitempty"`
		Option   string `json:"option,omitempty"`
		Values   string `json:"values,omitempty"`
		Value    string `json:"value"`
		Origin   string `json:"origin"`
		What     string `json:"what"`
		Error    string `json:"error,omitempty"`
	}
)

// infoJSON prints what info and configuration print, or the latter only.
func infoJSON(w io.Writer, configOnly bool) int {
	in, code := jsonInfo{Refused: words(mpi.CheckEnvironment())}, 0
	for _, s := range mpi.Settings() {
		in.Configuration = append(in.Configuration, jsonSetting{s.Variable, s.Option, s.Values, s.Value, string(s.Origin), s.What, words(s.Err)})
	}
	if !configOnly {
		code = in.machine()
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	e.Encode(in) // to a buffer; all fields can be encoded
	return code
}

// machine adds what is not configuration.
func (in *jsonInfo) machine() (code int) {
	for _, name := range mpi.Fabrics() {
		if name != "auto" {
			err := mpi.FabricAvailable(name)
			in.Fabrics = append(in.Fabrics, jsonFabric{name, err == nil, words(err)})
		}
	}
	addresses := func(oneHost bool) *jsonAddresses {
		list, err := mpi.NetAddresses(oneHost)
		if err != nil && len(list) == 0 {
			code = exitFailed
		}
		out := &jsonAddresses{[]jsonAddress{}, words(err)}
		for _, a := range list {
			one := jsonAddress{a.Interface.Name, "", a.Interface.Speed, a.Interface.MTU, a.Used, a.Why}
			if a.Addr.IsValid() {
				one.Address = a.Addr.String()
			}
			out.Addresses = append(out.Addresses, one)
		}
		return out
	}
	in.OneHost, in.SeveralHosts = addresses(true), addresses(false)
	devices, err := mpi.Devices()
	if err != nil {
		in.DevicesError, code = err.Error(), exitFailed
	}
	for _, d := range devices {
		one := jsonDevice{d.Name, d.Firmware, words(d.Problem), []jsonPort{}}
		for _, p := range d.Ports {
			one.Ports = append(one.Ports, jsonPort{p.Number, p.State, p.LinkLayer, p.Rate, p.MTU, p.Chosen, words(p.Problem)})
		}
		in.Devices = append(in.Devices, one)
	}
	in.ProtocolsErrors = map[string]string{}
	for _, name := range transports() {
		list, err := mpi.Protocols(name)
		if err != nil {
			in.ProtocolsErrors[name] = err.Error()
		}
		for _, p := range list {
			in.Protocols = append(in.Protocols, jsonProtocol{name, p.From, p.Alloc, p.Way, p.What, p.Why})
		}
	}
	for _, a := range mpi.Algorithms() {
		in.Algorithms = append(in.Algorithms, jsonAlgorithm(a))
	}
	return code
}

// words is the text of an error, "" of none.
func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
