// vocabulary: ids that the files of a checkpoint name and its weights have no rows for.
#include "text/vocabulary.h"

#include "support/checkpoint_builder.h"
#include "support/sentence_of.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>

namespace lagoon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::CheckpointBuilder;
using testing_support::sentence_of;
using testing_support::TemporaryFolder;

Checkpoint checkpoint_with(int vocabulary, const TemporaryFolder& folder) {
  CheckpointBuilder({.vocabulary = vocabulary}).write(folder.path());
  return Checkpoint::open(folder.path().string(), {}, SystemFiles());
}

TEST(CheckVocabulary, ATokenizerOfMoreIdsThanRowsIsRefused) {
  const Tokenizer tokenizer = Tokenizer::load(LAGOON_SOURCE_DIR "/models/nano/tokenizer.json");
  const int32_t size = tokenizer.vocabulary_size();
  const TemporaryFolder whole;
  const TemporaryFolder small;
  EXPECT_NO_THROW(check_vocabulary(tokenizer, {}, checkpoint_with(size, whole)));
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [&] { check_vocabulary(tokenizer, {}, checkpoint_with(size - 1, small)); }),
              AllOf(HasSubstr("tokenizer.json has 1,845 ids, the last is 1844 (`"), HasSubstr("vocab_size is 1,844")));
}

TEST(CheckVocabulary, AnEndIdBeyondTheRowsIsRefused) {
  const Tokenizer tokenizer = Tokenizer::load(LAGOON_SOURCE_DIR "/models/nano/tokenizer.json");
  const int32_t size = tokenizer.vocabulary_size();
  const TemporaryFolder folder;
  const Checkpoint checkpoint = checkpoint_with(size, folder);
  GenerationConfig advice;
  advice.eos_ids = {2, size - 1};
  EXPECT_NO_THROW(check_vocabulary(tokenizer, advice, checkpoint));
  advice.eos_ids = {2, size};
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [&] { check_vocabulary(tokenizer, advice, checkpoint); }),
              AllOf(HasSubstr("generation_config.json: `eos_token_id` is 1845"), HasSubstr("0 to 1844")));
}

}  // namespace
}  // namespace lagoon
