#pragma once

#include "core/checkpoint/model/text_model.h"

#include <memory>
#include <string>

namespace headscope::cli {

/// During its lifetime, the commands of this process use `model` for every --model that names `place`, so
/// that many commands open and read a checkpoint once. At most one at a time; for the thread that runs
/// commands.
class KeptModel {
public:
    /// place: as checkpoint::model_folder returns it.
    KeptModel(std::string place, checkpoint::TextModelPtr model);
    ~KeptModel();
    KeptModel(const KeptModel&) = delete;
    KeptModel& operator=(const KeptModel&) = delete;

    static bool exists();
};

/// Returns the kept model if it is at `place`; otherwise opens a checkpoint, which may lack what it needs to
/// run. Throws what Model::open throws.
std::shared_ptr<const checkpoint::Model> open_model(const std::string& place);
/// The same for a checkpoint with its tokenizer. Throws what checkpoint::open_text_model throws.
checkpoint::TextModelPtr open_text_model(const std::string& place);
using TokenizerPtr = std::shared_ptr<const text::Tokenizer>;
/// The tokenizer of the checkpoint at `place`. Throws Error(input) if there is none that can be read.
TokenizerPtr open_tokenizer(const std::string& place);

} // namespace headscope::cli
