#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::exporting {

enum class TraceFormat { safetensors, npz, npy, csv, tsv, json, circuitsvis };

struct TraceExport {
    TraceFormat format = TraceFormat::safetensors;
    StageSet stages = StageSet::all();
    /// Further nodes of a model's graph by their names in a layer, or outside of the layers ("kv_latent"),
    /// and what derived_stages.h makes from nodes. Whole: `head` does not cut them.
    std::vector<std::string> nodes = {};
    /// Keeps this head alone in the stages that have a head axis (there with extent 1; k_heads and v_heads:
    /// the head's key/value head). In [0, H).
    std::optional<std::int64_t> head = std::nullopt;
};

/// By its name ("safetensors", "npz", "npy", "csv", "tsv", "json", "circuitsvis") or by the suffix of a path,
/// which for circuitsvis is .circuitsvis.json; nothing when it is none.
std::optional<TraceFormat> find_trace_format(std::string_view name);
std::optional<TraceFormat> trace_format_of_path(std::string_view path);

/// Throws Error(input) when `path` cannot hold what is wanted: a .npy file or "-" for several stages as npy,
/// or other stages than weights for circuitsvis.
void check_target(const TraceExport& wanted, const std::string& path);

/// The stages of a trace, named as in the stage table and with its shapes, as the bytes of one file.
///   safetensors: F32 tensors; metadata tokens, kv_tokens (lists), config, device, fully_masked_rows,
///                fully_masked_head_rows as JSON text
///   npz:         the same tensors and metadata (SafetensorsWriter::write_npz_to)
///   circuitsvis: the weights alone (write_circuitsvis)
///   json:        the same metadata as members, then "stages": {NAME: {"shape": [...], "values": nested
///   lists}};
///                shortest digits that give back the float32; minus infinity is "-inf"
///   csv:         stage,b,h,i,j,value, one number a line; h is empty in stages without heads
///   tsv:         the same with tabs
///   npy:         one stage, no metadata
/// fully_masked_rows lists [b, i] that may attend to nothing in any head, fully_masked_head_rows [b, h, i]
/// the others, and is left out when there are none. Throws Error(input) for a head out of range, and
/// Error(input) for npy with several stages. The trace must hold the stages that are asked for, else
/// Error(internal).
std::string trace_bytes(const Problem& problem, const Trace& trace, const TraceExport& wanted);

/// Writes those bytes to a file, whole or not at all ("-": standard output). npy with several stages makes
/// `path` a folder that holds STAGE.npy for each and trace.json with the metadata. The trace need not hold
/// the stages that kept_stages() leaves out: they are made while the file is written. Throws Error(cancelled)
/// once `cancel` is; no file is left then.
void export_trace(const Problem& problem, const Trace& trace, const TraceExport& wanted,
                  const std::string& path, const Progress& cancel = Progress());

} // namespace headscope::exporting
