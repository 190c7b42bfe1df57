Feature: FanOutWithoutAck
  The broker sends each message once to every subscriber, and removes it.

  @DELIVERY-024
  Scenario: Every subscriber receives every message
    Given queue "ticks" exists with options:
      | mode | FanOutWithoutAck |
    And subscriber A subscribes to queue "ticks"
    And subscriber B subscribes to queue "ticks"
    When the publisher publishes messages "m1 to m20" to queue "ticks"
    Then subscriber A receives messages "m1 to m20"
    And subscriber B receives messages "m1 to m20"
    And queue "ticks" has 0 waiting messages

  @DELIVERY-025
  Scenario: A message is settled when it is sent
    Given a broker with these settings:
      | ackTimeout | 2 s |
      | retryDelay | 1 s |
    And queue "ticks" exists with options:
      | mode | FanOutWithoutAck |
    And subscriber A subscribes to queue "ticks"
    And the publisher publishes message "m1" to queue "ticks"
    And subscriber A receives message "m1"
    When 4 s pass
    Then subscriber A receives no further message
    When subscriber A disconnects
    Then queue "ticks" has 0 waiting messages

  @DELIVERY-026 @NACK-009
  Scenario: Acks are ignored
    Given queue "ticks" exists with options:
      | mode | FanOutWithoutAck |
    And subscriber A subscribes to queue "ticks"
    And the publisher publishes message "m1" to queue "ticks"
    And subscriber A receives message "m1"
    And the numbers of "/metrics/" are noted
    When subscriber A acknowledges message "m1"
    And subscriber A refuses message "m1" with reason HandlerException
    Then subscriber A receives no further message
    And these numbers of "/metrics/" have changed by:
      | total_messages_acknowledged | 0 |
      | in_flight_messages          | 0 |

  @DELIVERY-034
  Scenario: Without a subscriber messages wait
    Given queue "ticks" exists with options:
      | mode | FanOutWithoutAck |
    And the publisher publishes messages "m1, m2" to queue "ticks"
    Then queue "ticks" has 2 waiting messages
    When subscriber A subscribes to queue "ticks"
    And subscriber B subscribes to queue "ticks"
    Then subscriber A receives messages "m1, m2"
    And subscriber B receives no message

  @DELIVERY-028
  Scenario: Messages wait as long as no subscriber reads
    Given a broker with these settings:
      | maxOutboundBytes | 64 KiB |
    And queue "ticks" exists with options:
      | mode | FanOutWithoutAck |
    And subscriber A subscribes to queue "ticks"
    And subscriber A stops reading
    And the numbers of "/metrics/" are noted
    When the publisher publishes messages "m1 to m20" of 1000 KiB to queue "ticks", each when the one before has arrived
    And subscriber A resumes reading
    Then subscriber A receives messages "m1 to m20"
    And these numbers of "/metrics/" have changed by:
      | total_errors | 0 |

  @DELIVERY-027 @DELIVERY-029 @DELIVERY-048
  Scenario: Only a subscriber that does not read misses messages, and total_errors counts them
    Given a broker with these settings:
      | maxOutboundBytes | 64 KiB |
    And queue "ticks" exists with options:
      | mode | FanOutWithoutAck |
    And subscriber A subscribes to queue "ticks"
    And subscriber B subscribes to queue "ticks"
    And subscriber A stops reading
    And the numbers of "/metrics/" are noted
    When the publisher publishes messages "m1 to m20" of 1000 KiB to queue "ticks", each when the one before has arrived
    Then subscriber B receives messages "m1 to m20"
    And these numbers of "/metrics/" have increased:
      | total_errors |
    When subscriber A resumes reading
    And the publisher publishes message "n1" to queue "ticks"
    Then subscriber B receives message "n1"
