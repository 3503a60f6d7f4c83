#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::checkpoint {

/// A part of a multimodal checkpoint beside its language model. It is not computed.
enum class OtherPart : std::uint8_t {
    vision, ///< an encoder of images, its projector to the language model, or a generator of images
    audio,  ///< an encoder of sound and its projector
    speech  ///< a model that speaks the answer
};

/// The part that a tensor belongs to by its name; nothing for tensors of a language model.
std::optional<OtherPart> other_part_of(std::string_view tensor);
/// For messages and JSON: "vision".
std::string_view part_name(OtherPart part);

/// The stored size of a part.
struct PartSize {
    std::int64_t tensors = 0;
    std::int64_t parameters = 0;
};
using OtherParts = std::map<OtherPart, PartSize>;
/// Counts a tensor of that many numbers with its part. False: it belongs to none.
bool add_to_other_parts(OtherParts& parts, std::string_view tensor, std::int64_t numbers);

/// "Only the language model of this checkpoint is computed; its parts for images are left out."; empty
/// without other parts.
std::string left_out_sentence(const OtherParts& parts);

} // namespace headscope::checkpoint
