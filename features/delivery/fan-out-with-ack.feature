Feature: FanOutWithAck
  The broker delivers each message to every subscriber that is subscribed when it sends the first copy. Each subscriber must
  acknowledge its own copy.

  @DELIVERY-014
  Scenario: Every subscriber receives every message once
    Given queue "news" exists with options:
      | mode | FanOutWithAck |
    And subscriber A subscribes to queue "news"
    And subscriber B subscribes to queue "news"
    And subscriber C subscribes to queue "news"
    When the publisher publishes messages "m1 to m3" to queue "news"
    Then subscriber A receives messages "m1 to m3"
    And subscriber B receives messages "m1 to m3"
    And subscriber C receives messages "m1 to m3"

  @DELIVERY-015
  Scenario: A subscriber that subscribes later receives no copy
    Given queue "news" exists with options:
      | mode | FanOutWithAck |
    And subscriber A subscribes to queue "news"
    And the publisher publishes message "m1" to queue "news"
    When subscriber B subscribes to queue "news"
    And the publisher publishes message "m2" to queue "news"
    Then subscriber A receives messages "m1, m2"
    And subscriber B receives message "m2"
    And subscriber B receives no further message

  @DELIVERY-034 @DELIVERY-010 @DELIVERY-015
  Scenario: Waiting messages are delivered to the first subscriber
    Given queue "news" exists with options:
      | mode | FanOutWithAck |
    And the publisher publishes messages "m1, m2" to queue "news"
    When subscriber A subscribes to queue "news"
    And subscriber B subscribes to queue "news"
    Then subscriber A receives messages "m1, m2"
    And subscriber B receives no message

  @DELIVERY-016 @DELIVERY-056 @RETRY-012
  Scenario: One subscriber's ack does not settle another's copy
    Given a broker with these settings:
      | ackTimeout | 2 s |
      | retryDelay | 1 s |
    And queue "news" exists with options:
      | mode | FanOutWithAck |
    And subscriber A subscribes to queue "news"
    And subscriber B subscribes to queue "news"
    When the publisher publishes message "m1" to queue "news"
    And subscriber A receives message "m1"
    And subscriber B receives message "m1"
    And subscriber A acknowledges messages "m1, m1"
    Then subscriber B receives message "m1" again after 3 s
    And subscriber A receives no further message

  @DELIVERY-021
  Scenario: When all subscribers have acknowledged, the message is removed
    Given queue "news" exists with options:
      | mode | FanOutWithAck |
    And subscriber A subscribes to queue "news"
    And subscriber B subscribes to queue "news"
    And the publisher publishes message "m1" to queue "news"
    When subscriber A acknowledges message "m1"
    And subscriber B acknowledges message "m1"
    And subscriber A disconnects
    And subscriber B disconnects
    Then queue "news" has 0 waiting messages

  @DELIVERY-021
  Scenario: The copy of a subscriber that leaves without an ack is dropped
    Given queue "news" exists with options:
      | mode | FanOutWithAck |
    And subscriber A subscribes to queue "news"
    And subscriber B subscribes to queue "news"
    And the publisher publishes message "m1" to queue "news"
    When subscriber A acknowledges message "m1"
    And subscriber B disconnects
    And subscriber C subscribes to queue "news"
    Then subscriber C receives no message
    And queue "news" has 0 waiting messages

  @DELIVERY-022
  Scenario: When all subscribers leave without an ack, the message waits again
    Given queue "news" exists with options:
      | mode | FanOutWithAck |
    And subscriber A subscribes to queue "news"
    And subscriber B subscribes to queue "news"
    And the publisher publishes message "m1" to queue "news"
    When subscriber A disconnects
    And subscriber B disconnects
    Then queue "news" has 1 waiting message
    When subscriber C subscribes to queue "news"
    Then subscriber C receives message "m1"

  @DELIVERY-017 @DELIVERY-018 @DELIVERY-049
  Scenario: A subscriber without room receives its copy when it has room, and does not delay the others
    Given queue "news" exists with options:
      | mode | FanOutWithAck |
    And subscriber A subscribes to queue "news" for at most 1 message at a time
    And subscriber B subscribes to queue "news"
    When the publisher publishes messages "m1 to m3" to queue "news"
    Then subscriber A receives message "m1"
    And subscriber A receives no further message
    And subscriber B receives messages "m1 to m3"
    And queue "news" has 2 waiting messages
    When subscriber A acknowledges message "m1"
    Then subscriber A receives message "m2"
    And queue "news" has 1 waiting message

  @DELIVERY-048
  Scenario: A subscriber that does not read does not delay others
    Given a broker with these settings:
      | maxOutboundBytes | 64 KiB |
    And queue "news" exists with options:
      | mode | FanOutWithAck |
    And subscriber A subscribes to queue "news"
    And subscriber B subscribes to queue "news"
    And subscriber A stops reading
    When the publisher publishes messages "m1 to m8" of 1000 KiB to queue "news", each when the one before has arrived
    Then subscriber B receives messages "m1 to m8"

  @DELIVERY-019 @OVERFLOW-002
  Scenario: DropOldest drops the copies that are not yet sent
    Given queue "news" exists with options:
      | mode         | FanOutWithAck |
      | maxQueueSize | 1             |
    And subscriber A subscribes to queue "news" for at most 1 message at a time
    And subscriber B subscribes to queue "news"
    When the publisher publishes messages "m1 to m3" to queue "news"
    Then messages "m1 to m3" are confirmed to the publisher
    And subscriber B receives messages "m1 to m3"
    And subscriber A receives message "m1"
    When subscriber A acknowledges message "m1"
    Then subscriber A receives message "m3"
    And subscriber A receives no further message
