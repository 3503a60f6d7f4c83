#pragma once

#include "core/attention/problem.h"
#include "core/export/trace_export.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace headscope::exporting {

/// One tensor of the stage table, or a part of it.
struct TensorPart {
    TensorId id = TensorId::weights; ///< a stage, or x_kv, W_* or b_*
    std::optional<std::int64_t> b =
        std::nullopt; ///< one batch entry, in [0, B); tensors with that axis alone
    /// One head, in [0, H); stages with a head axis alone (k_heads and v_heads: the head's key/value head).
    std::optional<std::int64_t> h = std::nullopt;
};

/// Its numbers without the axes that the part fixes: weights with b and h are (Tq, Tk). Throws Error(input)
/// when the problem has no such tensor, batch entry or head; Error(internal) when the trace does not hold the
/// stage.
TensorPtr tensor_part(const Problem& problem, const Trace& trace, const TensorPart& part);

/// The bytes of one file.
///   npy:         float32, with the part's shape
///   safetensors: one F32 tensor by its name in the stage table; `notes` as metadata
///   npz:         the same as arrays (SafetensorsWriter::write_npz_to)
///   circuitsvis: weights alone (write_circuitsvis); the note "layer" names their layer
///   csv, tsv:    a matrix or vector as a plain table of numbers, without headings; more axes than two (not
///                counting leading ones of extent 1) as stage,b,h,i,j,value, one number a line, as trace has
///                it
/// Minus infinity is "-inf" in text, which NumPy and pandas read. Throws like tensor_part, and Error(input)
/// for json.
std::string tensor_bytes(const Problem& problem, const Trace& trace, const TensorPart& part,
                         TraceFormat format, const std::map<std::string, std::string>& notes = {});

/// Writes them whole or not at all, in the format of the path's suffix. Throws Error(input) for another
/// suffix.
void export_tensor(const Problem& problem, const Trace& trace, const TensorPart& part,
                   const std::string& path, const std::map<std::string, std::string>& notes = {});

} // namespace headscope::exporting
