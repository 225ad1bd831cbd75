"""`SummaryWriter`: what a training run has to show, into a folder that TensorBoard watches."""
import os
import socket
import time
from datetime import datetime

from dragon.vm.torch.utils.tensorboard import charts, graphs, projector, summary
from dragon.vm.torch.utils.tensorboard.boxes import draw as draw_boxes
from dragon.vm.torch.utils.tensorboard.records import RecordWriter, field

_count = 0


class FileWriter:
    """Write events into one file of a folder.

    Parameters
    ----------
    log_dir : str
        The folder, made if it is not there.
    filename_suffix : str, optional, default=""
        The end of the file's name.

    """

    def __init__(self, log_dir, max_queue=10, flush_secs=120, filename_suffix=""):
        global _count
        self.log_dir = str(log_dir)
        self._max_queue, self._flush_secs = max_queue, flush_secs
        os.makedirs(self.log_dir, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{_count}"
        _count += 1
        self._records = RecordWriter(os.path.join(self.log_dir, name + filename_suffix))
        self._waiting, self._flushed = 0, time.monotonic()
        self._write(field(1, time.time()) + field(3, "brain.Event:2"))
        self.flush()

    def get_logdir(self):
        """Return the folder."""
        return self.log_dir

    def _write(self, event):
        self._records.write(event)
        self._waiting += 1
        if self._waiting > self._max_queue or time.monotonic() - self._flushed > self._flush_secs:
            self.flush()

    def add_summary(self, content, global_step=None, walltime=None):
        """Write a summary, with the step and the time it belongs to."""
        step = None if global_step is None else int(global_step)
        self._write(field(1, float(time.time() if walltime is None else walltime)) + field(2, step)
                    + field(5, content))

    def add_graph(self, graph_profile, walltime=None):
        """Write a graph, and what its run has told."""
        message, told = graph_profile
        now = field(1, float(time.time() if walltime is None else walltime))
        self._write(now + field(4, message))
        self._write(now + field(8, told))

    def add_onnx_graph(self, graph, walltime=None):
        """Write a graph of which no run is known."""
        self._write(field(1, float(time.time() if walltime is None else walltime)) + field(4, graph))

    def flush(self):
        """Write what waits."""
        self._records.flush()
        self._waiting, self._flushed = 0, time.monotonic()

    def close(self):
        """End the file."""
        self._records.close()


class SummaryWriter:
    """Write what TensorBoard shows.

    Parameters
    ----------
    log_dir : str, optional
        The folder; `runs/<date>_<machine><comment>` by default.
    comment : str, optional, default=""
        The end of that name.
    purge_step : int, optional
        From which step on TensorBoard shall forget what an earlier run, that crashed, has written.
    filename_suffix : str, optional, default=""
        The end of the files' names.

    """

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir, self.purge_step = log_dir, purge_step
        self.max_queue, self.flush_secs, self.filename_suffix = max_queue, flush_secs, filename_suffix
        self.file_writer = self.all_writers = None
        self._projector_lines = []
        self._get_file_writer()
        self.default_bins = summary.default_bins()

    def _get_file_writer(self):
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = FileWriter(self.log_dir, self.max_queue, self.flush_secs, self.filename_suffix)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                # TensorBoard forgets later steps where a new session starts.
                started = field(1, 1)
                for event in (field(3, "brain.Event:2"), field(7, started)):
                    self.file_writer._write(field(1, time.time()) + field(2, self.purge_step) + event)
                self.purge_step = None
        return self.file_writer

    def _add(self, content, global_step, walltime):
        self._get_file_writer().add_summary(content, global_step, walltime)

    def get_logdir(self):
        """Return the folder."""
        return self.log_dir

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        """Add a number to a curve."""
        content = summary.scalar(summary.clean_tag(tag), scalar_value, double_precision, new_style)
        self._add(content, global_step, walltime)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Add a number to each of several curves in one picture; each curve has a folder of its own."""
        for tag, number in tag_scalar_dict.items():
            folder = os.path.join(str(self.log_dir), f"{main_tag.replace('/', '_')}_{tag}")
            self._get_file_writer()
            if folder not in self.all_writers:
                self.all_writers[folder] = FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)
            self.all_writers[folder].add_summary(summary.scalar(summary.clean_tag(main_tag), number), global_step,
                                                 walltime)

    def add_tensor(self, tag, tensor, global_step=None, walltime=None):
        """Add a tensor's numbers."""
        self._add(summary.tensor_values(summary.clean_tag(tag), tensor), global_step, walltime)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        """Add how values are distributed."""
        bins = self.default_bins if bins == "tensorflow" else bins
        self._add(summary.histogram(summary.clean_tag(tag), values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(self, tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts, global_step=None,
                          walltime=None):
        """Add a distribution whose bins are known."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        message = summary.histogram_message(min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(summary.value(summary.clean_tag(tag), field(5, message)), global_step, walltime)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        """Add a picture, of bytes or of numbers from 0 to 1."""
        self._add(summary.image(summary.clean_tag(tag), img_tensor, dataformats), global_step, walltime)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        """Add several pictures side by side."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """Add a figure of Matplotlib's, or a list of them."""
        import numpy as np
        figures = figure if isinstance(figure, list) else [figure]
        pictures = []
        for drawn in figures:
            drawn.canvas.draw()
            pictures.append(np.asarray(drawn.canvas.buffer_rgba())[..., :3])
            if close:
                import matplotlib.pyplot
                matplotlib.pyplot.close(drawn)
        if isinstance(figure, list):
            self.add_image(tag, np.stack(pictures), global_step, walltime, "NHWC")
        else:
            self.add_image(tag, pictures[0], global_step, walltime, "HWC")

    def add_audio(self, tag, snd_tensor, global_step=None, sample_rate=44100, walltime=None):
        """Add a sound, of numbers from -1 to 1."""
        self._add(summary.audio(summary.clean_tag(tag), snd_tensor, sample_rate), global_step, walltime)

    def add_video(self, tag, vid_tensor, global_step=None, fps=4, walltime=None):
        """Add films, (films, frames, channels, height, width), side by side; this needs Pillow."""
        self._add(charts.video(summary.clean_tag(tag), vid_tensor, fps), global_step, walltime)

    def add_image_with_boxes(self, tag, img_tensor, box_tensor, global_step=None, walltime=None, rescale=1,
                             dataformats="CHW", labels=None):
        """Add a picture with boxes, (boxes, 4) of left, top, right and bottom, and their labels; this needs Pillow."""
        labels = [labels] if isinstance(labels, str) else labels
        boxes = summary.as_array(box_tensor)
        if labels is not None and len(labels) != len(boxes):
            labels = None
        pixels = summary.to_pixels(img_tensor, dataformats)
        height, width, channels = pixels.shape
        encoded = summary.encode_png(draw_boxes(pixels, boxes, labels, rescale))
        self._add(charts.picture(summary.clean_tag(tag), height, width, channels, encoded), global_step, walltime)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        """Add a text, which may be Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_pr_curve(self, tag, labels, predictions, global_step=None, num_thresholds=127, weights=None, walltime=None):
        """Add the curve of precision and recall of predictions, from 0 to 1, for labels of 0 and 1."""
        self._add(charts.pr_curve(summary.clean_tag(tag), labels, predictions, num_thresholds, weights), global_step,
                  walltime)

    def add_pr_curve_raw(self, tag, true_positive_counts, false_positive_counts, true_negative_counts,
                         false_negative_counts, precision, recall, global_step=None, num_thresholds=127, weights=None,
                         walltime=None):
        """Add a curve of precision and recall whose points are known; `weights` have been counted by then."""
        rows = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision,
                recall)
        self._add(charts.pr_curve_raw(summary.clean_tag(tag), rows, num_thresholds), global_step, walltime)

    def add_mesh(self, tag, vertices, colors=None, faces=None, config_dict=None, global_step=None, walltime=None):
        """Add shapes in space, (shapes, points, 3), with their points' colours and their triangles."""
        self._add(charts.mesh(summary.clean_tag(tag), vertices, colors, faces, config_dict), global_step, walltime)

    def add_custom_scalars(self, layout):
        """Say which curves are shown together: {category: {chart: ["Multiline" or "Margin", tags]}}."""
        self._add(charts.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(self, tags, category="default", title="untitled"):
        """Say that some curves are shown in one chart."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags, category="default", title="untitled"):
        """Say that three curves are a value and what it lies between."""
        if len(tags) != 3:
            raise AssertionError("Expected 3 tags")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        """Add a module's graph, as it is exported with some arguments.

        Parameters
        ----------
        model : Module
            The module.
        input_to_model : Union[Tensor, Sequence]
            Its arguments.
        verbose : bool, optional, default=False
            Whether to print the graph as well.
        use_strict_trace : bool, optional, default=True
            Accepted: dictionaries are taken as results at all times.

        """
        message, text = graphs.module_graph(model, input_to_model)
        if verbose:
            print(text)
        self._get_file_writer().add_graph((message, graphs.run_metadata()))

    def add_onnx_graph(self, prototxt):
        """Add the graph of an ONNX file; this needs onnx."""
        self._get_file_writer().add_onnx_graph(graphs.onnx_graph(prototxt))

    def add_embedding(self, mat, metadata=None, label_img=None, global_step=None, tag="default", metadata_header=None):
        """Add points in many dimensions for the projector.

        Parameters
        ----------
        mat : Union[Tensor, numpy.ndarray]
            A row for each point.
        metadata : Sequence, optional
            A label each, or a sequence of as many as `metadata_header` names.
        label_img : Tensor, optional
            A picture each: (points, channels, height, width), of numbers from 0 to 1.
        global_step : int, optional
            When.
        tag : str, optional, default="default"
            What the points are called.
        metadata_header : Sequence[str], optional
            What the labels are.

        """
        folder = self._get_file_writer().get_logdir()
        self._projector_lines += projector.add(folder, tag, mat, metadata, label_img, global_step, metadata_header)
        projector.write_lines(os.path.join(folder, projector.CONFIG), self._projector_lines)

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        """Add a run's hyperparameters and what came out, in a folder of their own."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        folder = os.path.join(str(self.log_dir), run_name or str(time.time()))
        with SummaryWriter(folder) as writer:
            for content in summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete):
                writer.file_writer.add_summary(content, global_step)
            for name, number in metric_dict.items():
                writer.add_scalar(name, number, global_step)

    def flush(self):
        """Write what waits."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self):
        """End the files; adding something later opens a new one."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
