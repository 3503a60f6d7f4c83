#include "core/checkpoint/files/other_parts.h"

#include "core/base/joined.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>

namespace headscope::checkpoint {

namespace {

struct PartPrefix {
    std::string_view prefix;
    OtherPart part;
};

// The names of Hugging Face's classes, and of the authors of InternVL (mlp1), DeepSeek-VL and Janus.
constexpr std::array prefixes{
    PartPrefix{"vision_tower.", OtherPart::vision}, PartPrefix{"vision_model.", OtherPart::vision},
    PartPrefix{"visual.", OtherPart::vision},       PartPrefix{"multi_modal_projector.", OtherPart::vision},
    PartPrefix{"image_newline", OtherPart::vision}, PartPrefix{"mlp1.", OtherPart::vision},
    PartPrefix{"aligner.", OtherPart::vision},      PartPrefix{"gen_vision_model.", OtherPart::vision},
    PartPrefix{"gen_aligner.", OtherPart::vision},  PartPrefix{"gen_head.", OtherPart::vision},
    PartPrefix{"gen_embed.", OtherPart::vision},    PartPrefix{"audio_tower.", OtherPart::audio},
    PartPrefix{"embed_vision.", OtherPart::vision}, PartPrefix{"embed_audio.", OtherPart::audio},
    PartPrefix{"talker.", OtherPart::speech},       PartPrefix{"token2wav.", OtherPart::speech}};

std::string part_text(OtherPart part) {
    switch (part) {
    case OtherPart::vision:
        return tr("other_parts.images", "images");
    case OtherPart::audio:
        return tr("other_parts.sound", "sound");
    case OtherPart::speech:
        return tr("other_parts.speech", "speech");
    }
    return "";
}

} // namespace

std::optional<OtherPart> other_part_of(std::string_view tensor) {
    for (const std::string_view outer : {"thinker.", "model."})
        if (tensor.starts_with(outer))
            tensor.remove_prefix(outer.size());
    const auto found =
        std::ranges::find_if(prefixes, [&](const PartPrefix& row) { return tensor.starts_with(row.prefix); });
    return found == prefixes.end() ? std::nullopt : std::optional(found->part);
}

std::string_view part_name(OtherPart part) {
    constexpr std::array<std::string_view, 3> names{"vision", "audio", "speech"};
    return names[static_cast<std::size_t>(part)];
}

bool add_to_other_parts(OtherParts& parts, std::string_view tensor, std::int64_t numbers) {
    const auto part = other_part_of(tensor);
    if (!part)
        return false;
    PartSize& size = parts[*part];
    size.tensors += 1;
    size.parameters += numbers;
    return true;
}

std::string left_out_sentence(const OtherParts& parts) {
    if (parts.empty())
        return "";
    // Translators: {} lists "images", "sound" and "speech".
    return tr("other_parts.only_language_model_computed",
              "Only the language model of this checkpoint is computed; its parts for {} are left out.",
              joined(parts, [](const auto& row) { return part_text(row.first); }));
}

} // namespace headscope::checkpoint
