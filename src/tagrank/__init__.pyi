"""The public names of tagrank and where they are defined; `make docs` writes this file."""
from tagrank._version import (
    __version__ as __version__,
)
from tagrank.annotation.annotator import (
    Annotator as Annotator,
)
from tagrank.annotation.bank.feature_bank import (
    DescribedPictures as DescribedPictures,
    FeatureBank as FeatureBank,
    bank_size as bank_size,
    clear_bank as clear_bank,
    prune_bank as prune_bank,
)
from tagrank.annotation.bank.row_store import (
    CacheWarning as CacheWarning,
)
from tagrank.annotation.choosing.recipe import (
    Recipe as Recipe,
)
from tagrank.annotation.describing import (
    describe_pictures as describe_pictures,
)
from tagrank.annotation.explanation import (
    Explanation as Explanation,
    explain as explain,
)
from tagrank.annotation.model_files.storage import (
    ModelFileError as ModelFileError,
)
from tagrank.annotation.ranked_tags import (
    RankedTag as RankedTag,
    RankedTags as RankedTags,
)
from tagrank.commands.annotate import (
    annotate as annotate,
)
from tagrank.commands.audit.audit import (
    audit as audit,
)
from tagrank.commands.compare.compare import (
    compare as compare,
)
from tagrank.commands.decisions import (
    backup_decisions as backup_decisions,
    export_decisions as export_decisions,
    import_decisions as import_decisions,
    restore_decisions as restore_decisions,
)
from tagrank.commands.demo import (
    demo as demo,
)
from tagrank.commands.evaluate import (
    evaluate as evaluate,
)
from tagrank.commands.lists import (
    datasets as datasets,
)
from tagrank.commands.missing.missing import (
    missing as missing,
)
from tagrank.commands.reproduce import (
    list_reproductions as list_reproductions,
    reproduce as reproduce,
)
from tagrank.commands.tags import (
    change_tags as change_tags,
    list_tags as list_tags,
    undo_tags as undo_tags,
)
from tagrank.commands.train import (
    train as train,
)
from tagrank.commands.tune import (
    tune as tune,
)
from tagrank.commands.undo import (
    accept as accept,
    undo as undo,
)
from tagrank.data.catalog import (
    find_dataset as find_dataset,
    list_datasets as list_datasets,
    load_dataset as load_dataset,
)
from tagrank.data.collection import (
    Collection as Collection,
)
from tagrank.data.drawn_pictures import (
    draw_pictures as draw_pictures,
)
from tagrank.data.hygiene import (
    clean_tags as clean_tags,
)
from tagrank.data.picture_files import (
    read_picture as read_picture,
)
from tagrank.data.readers.folders.folder import (
    read_pictures as read_pictures,
)
from tagrank.data.readers.frame import (
    from_frame as from_frame,
    to_frame as to_frame,
)
from tagrank.data.readers.xmp import (
    read_keywords as read_keywords,
    read_sidecar as read_sidecar,
)
from tagrank.data.reading import (
    Reading as Reading,
    read_collection as read_collection,
    write_collection as write_collection,
)
from tagrank.data.splits import (
    LabelStratifiedKFold as LabelStratifiedKFold,
    hide_labels as hide_labels,
    iterative_split as iterative_split,
    split_collection as split_collection,
)
from tagrank.data.writers.sidecar import (
    write_sidecar as write_sidecar,
)
from tagrank.data.writers.tags import (
    write_tags as write_tags,
)
from tagrank.estimators.base import (
    LabelEstimator as LabelEstimator,
)
from tagrank.estimators.calibration.calibrated import (
    CalibratedRanker as CalibratedRanker,
)
from tagrank.estimators.calibration.probability_ranker import (
    ProbabilityRanker as ProbabilityRanker,
)
from tagrank.estimators.factorization import (
    OnlineFactorization as OnlineFactorization,
    TwoWayFactorization as TwoWayFactorization,
)
from tagrank.estimators.joint.joint_svm import (
    JointSVM as JointSVM,
)
from tagrank.estimators.label_frequency import (
    LabelFrequency as LabelFrequency,
)
from tagrank.estimators.max_margin import (
    MaxMarginEstimator as MaxMarginEstimator,
)
from tagrank.estimators.methods import (
    methods as methods,
)
from tagrank.estimators.multiple_kernel.multiple_kernel_svm import (
    MultipleKernelSVM as MultipleKernelSVM,
)
from tagrank.estimators.multiple_kernel.shared_weights import (
    MultipleKernelRanker as MultipleKernelRanker,
    SharedKernelSVM as SharedKernelSVM,
)
from tagrank.estimators.neighbours.nearest_neighbors import (
    BayesianNeighbors as BayesianNeighbors,
    LabelTransfer as LabelTransfer,
    NearestNeighbors as NearestNeighbors,
    RelevanceModel as RelevanceModel,
)
from tagrank.estimators.neighbours.tag_propagation import (
    TagPropagation as TagPropagation,
)
from tagrank.estimators.one_vs_all import (
    OneVsAllLogistic as OneVsAllLogistic,
    OneVsAllSVM as OneVsAllSVM,
)
from tagrank.estimators.online.online_joint_svm import (
    OnlineJointSVM as OnlineJointSVM,
)
from tagrank.estimators.online.online_ranker import (
    OnlineRanker as OnlineRanker,
)
from tagrank.estimators.prior_margin import (
    PriorMarginClassifier as PriorMarginClassifier,
    correlation_prior as correlation_prior,
    signature_prior as signature_prior,
)
from tagrank.estimators.ranking import (
    IncompleteLabelRanker as IncompleteLabelRanker,
    LabelRanker as LabelRanker,
    PairwiseRanker as PairwiseRanker,
)
from tagrank.estimators.ridge_regression import (
    LabelCompletion as LabelCompletion,
    RidgeRegression as RidgeRegression,
)
from tagrank.estimators.scorers import (
    LabelScorer as LabelScorer,
    category_auc_scorer as category_auc_scorer,
    category_average_precision_scorer as category_average_precision_scorer,
    get_scorer as get_scorer,
    image_auc_scorer as image_auc_scorer,
    image_average_precision_scorer as image_average_precision_scorer,
)
from tagrank.estimators.shared_spaces.margin_embedding import (
    MarginEmbedding as MarginEmbedding,
)
from tagrank.estimators.shared_spaces.nonnegative import (
    AsymmetricFactorization as AsymmetricFactorization,
    MixedFactorization as MixedFactorization,
)
from tagrank.estimators.shared_spaces.regressions_onto_codes import (
    CanonicalCorrelation as CanonicalCorrelation,
    CompressedSensing as CompressedSensing,
    LabelSpaceTransform as LabelSpaceTransform,
    SharedSubspace as SharedSubspace,
)
from tagrank.estimators.transformations.boosted_stumps import (
    BoostedStumps as BoostedStumps,
)
from tagrank.estimators.transformations.label_powerset import (
    LabelPowerset as LabelPowerset,
)
from tagrank.estimators.transformations.sigmoid_svms import (
    PlattSVM as PlattSVM,
    RankingAreaSVM as RankingAreaSVM,
)
from tagrank.features.extraction import (
    extract_features as extract_features,
)
from tagrank.features.feature import (
    Feature as Feature,
)
from tagrank.features.registry import (
    choose_features as choose_features,
)
from tagrank.files import (
    Problem as Problem,
    ProblemWarning as ProblemWarning,
)
from tagrank.kernels.description import (
    kernel_from_dict as kernel_from_dict,
    make_kernel as make_kernel,
)
from tagrank.kernels.histograms import (
    ChiSquared as ChiSquared,
    Hellinger as Hellinger,
    Intersection as Intersection,
)
from tagrank.kernels.kernel import (
    Kernel as Kernel,
)
from tagrank.kernels.maps import (
    FourierMap as FourierMap,
    NystroemMap as NystroemMap,
    approximate as approximate,
    approximate_stack as approximate_stack,
)
from tagrank.kernels.precomputed import (
    check_gram as check_gram,
)
from tagrank.kernels.stack import (
    KernelStack as KernelStack,
    LowRankStack as LowRankStack,
)
from tagrank.kernels.stack_files import (
    open_stack as open_stack,
    save_stack as save_stack,
    stack_of_kernels as stack_of_kernels,
)
from tagrank.kernels.vectors import (
    Gaussian as Gaussian,
    Linear as Linear,
    Polynomial as Polynomial,
)
from tagrank.labels import (
    encode_tag_sets as encode_tag_sets,
    label_states as label_states,
)
from tagrank.metrics.metric import (
    Metric as Metric,
)
from tagrank.metrics.predictions import (
    AnnotationScores as AnnotationScores,
    annotation_scores as annotation_scores,
    f_measure as f_measure,
    hamming_loss as hamming_loss,
)
from tagrank.metrics.ranking import (
    category_auc as category_auc,
    category_average_precision as category_average_precision,
    coverage as coverage,
    image_auc as image_auc,
    image_average_precision as image_average_precision,
    label_ranking_average_precision as label_ranking_average_precision,
    ndcg_at_k as ndcg_at_k,
    one_error as one_error,
    precision_at_k as precision_at_k,
    ranking_loss as ranking_loss,
    recall_at_k as recall_at_k,
    split_by_objects as split_by_objects,
)
from tagrank.metrics.table import (
    MetricRow as MetricRow,
    MetricTable as MetricTable,
    catalog_metrics as catalog_metrics,
    metric_table as metric_table,
    per_label_table as per_label_table,
)
from tagrank.reports.report import (
    write_report as write_report,
)
from tagrank import annotation as annotation, data as data, estimators as estimators, features as features, kernels as kernels, metrics as metrics
